//! Boxes: features of regions of images, and suppression of boxes that overlap better ones.
//!
//! | file | operators of OpenVINO that are lowered to graphs of ONNX's |
//! |---|---|
//! | `detection_output.rs` | `DetectionOutput` |
//! | `features.rs` | `PSROIPooling`, `ExperimentalDetectronROIFeatureExtractor` |
//! | `lowered.rs` | `NMSRotated`, `NonMaxSuppression` with scores that decay |
//! | `multiclass.rs` | `MulticlassNms`, `MatrixNms` |
//! | `priors.rs` | `PriorBox`, `PriorBoxClustered`, `ExperimentalDetectronPriorGridGenerator` |
//! | `proposals.rs` | `Proposal`, `GenerateProposals` and their like |
//! | `samples.rs` | `ROIAlignRotated`, `PSROIPooling` with samples, `DeformablePSROIPooling` |

pub mod detection_output;
pub mod features;
pub mod infer;
pub mod lowered;
pub mod multiclass;
pub mod openvino;
pub mod priors;
pub mod proposals;
pub mod regions;
pub mod rotated;
pub mod samples;
pub mod suppression;
pub mod to_onnx;
pub mod to_openvino;
