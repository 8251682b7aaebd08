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
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
pub mod multiclass;
pub mod openvino;
pub mod priors;
pub mod proposals;
#[cfg(feature = "run")]
pub mod regions;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod rotated;
pub mod samples;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod suppression;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
