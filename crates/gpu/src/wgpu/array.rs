//! Elements in a buffer of a device, and how a plan is written there.

use std::collections::BTreeMap;
use std::sync::Arc;

use gradus_core::convert::{self, u64_of, usize_of};
use gradus_core::{DType, Error, Kind, Result};
use wgpu::util::DeviceExt;

use super::given::{Given, GivenPart, ShaderSource, low, pair};
use super::shaders::CAPACITY;
use super::{OpenAdapter, Task};
use crate::device::{Array, DeviceReport};
use crate::engine::{self, Memory, PART, Rest};
use crate::plan::AnyPlan;

/// Elements in a buffer.
#[derive(Debug)]
pub(super) struct WgpuArray {
    open: Arc<OpenAdapter>,
    dtype: DType,
    len: u64,
    bytes: u64,
    words: wgpu::Buffer,
}

/// Bytes of a list of doubts: their number, and as many as there is room for. A multiple of every
/// alignment.
const LIST: u64 = 4 * (1 + CAPACITY);
const _: () = assert!(LIST.is_multiple_of(256));

/// Bytes that an invocation writes.
const VECTOR: u64 = 16;

/// Invocations in a workgroup, as the shaders say.
const GROUP: u64 = 256;

/// Bytes that are copied to the processor at a time.
const COPIED: u64 = 64 << 20;

impl WgpuArray {
    /// New memory for `len` elements of `bytes` bytes together.
    pub(super) fn new(open: &Arc<OpenAdapter>, dtype: DType, len: u64, bytes: u64) -> Result<WgpuArray> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let words = buffer(open, bytes.next_multiple_of(VECTOR).max(VECTOR), usage);
        open.check()?;
        Ok(WgpuArray { open: Arc::clone(open), dtype, len, bytes, words })
    }

    fn width(&self) -> u64 {
        u64_of(self.dtype.bits() / 8)
    }

    /// The buffer's words that hold `count` elements from index `lo` on, which is a multiple of
    /// [`PART`].
    fn window(&self, lo: u64, count: u64) -> wgpu::BindingResource<'_> {
        let size = (count * self.width()).next_multiple_of(VECTOR);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.words,
            offset: lo * self.width(),
            size: wgpu::BufferSize::new(size),
        })
    }

    /// The elements of the part that begins at an index.
    fn part_at(&self, lo: u64) -> u64 {
        PART.min(self.len - lo)
    }

    /// Has the device make a part of a plan, and list its doubts.
    fn make_part(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        source: &ShaderSource,
        lo: u64,
        lists: &wgpu::Buffer,
    ) {
        let count = self.part_at(lo);
        let part = source.part(lo, count);
        let list = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: lists,
            offset: lo / PART * LIST,
            size: wgpu::BufferSize::new(LIST),
        });
        let bindings = self.bindings(&part, self.window(lo, count), list);
        let starts = u64::from(part.given.starts);
        if starts > 0 {
            dispatch(encoder, &self.open.pipeline(Task::Prepare, self.dtype), &bindings, starts);
        }
        let fill = self.open.pipeline(Task::Fill(source.shader()), self.dtype);
        dispatch(encoder, &fill, &bindings, (count * self.width()).div_ceil(VECTOR));
    }

    fn bindings(
        &self,
        part: &GivenPart,
        words: wgpu::BindingResource<'_>,
        list: wgpu::BindingResource<'_>,
    ) -> wgpu::BindGroup {
        let given = self.filled(bytemuck::cast_slice(&part.given.words()));
        let tables = self.filled(bytemuck::cast_slice(&part.tables));
        let starts =
            buffer(&self.open, 16 * u64::from(part.given.starts).max(1), wgpu::BufferUsages::STORAGE);
        let resources =
            [given.as_entire_binding(), tables.as_entire_binding(), starts.as_entire_binding(), words, list];
        let entries: Vec<_> = (0..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let layout = &self.open.layout;
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        self.open.device.create_bind_group(&descriptor)
    }

    /// A buffer with that content.
    fn filled(&self, contents: &[u8]) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::STORAGE;
        self.open.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents,
            usage,
        })
    }

    /// Commands for the device.
    fn encoder(&self) -> wgpu::CommandEncoder {
        self.open.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    /// Copies bytes of a buffer to the processor, after some commands; both ends are multiples of
    /// four.
    fn copy(
        &self,
        mut encoder: wgpu::CommandEncoder,
        from: &wgpu::Buffer,
        at: u64,
        out: &mut [u8],
    ) -> Result<()> {
        let size = u64_of(out.len());
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let mapped = buffer(&self.open, size, usage);
        encoder.copy_buffer_to_buffer(from, at, &mapped, 0, size);
        self.open.queue.submit([encoder.finish()]);
        mapped.slice(..).map_async(wgpu::MapMode::Read, |_| ());
        self.open.wait()?;
        let view = mapped.slice(..).get_mapped_range().map_err(|error| {
            Error::new(Kind::Io, format!("{}: cannot read memory: {error}", self.open.info.name))
        })?;
        out.copy_from_slice(&view);
        Ok(())
    }
}

fn buffer(open: &OpenAdapter, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    open.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

/// Parts that the device makes before their doubts are read.
const TOGETHER: usize = 16;

/// Runs a pipeline for at least `invocations` invocations.
fn dispatch(
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    bindings: &wgpu::BindGroup,
    invocations: u64,
) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, bindings, &[]);
    pass.dispatch_workgroups(low(invocations.div_ceil(GROUP)), 1, 1);
}

impl Memory for WgpuArray {
    fn make(&mut self, plan: &dyn AnyPlan) -> Result<Rest> {
        let Some(source) = ShaderSource::of(plan) else {
            let ranges = std::iter::once(0..self.len).collect();
            return Ok(Rest { ranges, ..Rest::default() });
        };
        let parts = self.len.div_ceil(PART);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let lists = buffer(&self.open, parts * LIST, usage);
        let mut rest = Rest::default();
        for first in (0..parts).step_by(TOGETHER) {
            let some = first..parts.min(first + u64_of(TOGETHER));
            let mut encoder = self.encoder();
            some.clone().for_each(|part| self.make_part(&mut encoder, &source, part * PART, &lists));
            // Waits, so that errors of the driver are told early.
            let mut words = vec![0u32; usize_of((some.end - first) * LIST / 4)];
            self.copy(encoder, &lists, first * LIST, bytemuck::cast_slice_mut(&mut words))?;
            for (part, list) in some.zip(words.chunks_exact(usize_of(LIST / 4))) {
                let (count, places) = list.split_first().expect("lists have a length");
                let lo = part * PART;
                match places.get(..convert::usize_of_u32(*count)) {
                    Some(places) => rest.doubts.extend(places.iter().map(|&place| lo + u64::from(place))),
                    None => rest.ranges.push(lo..lo + self.part_at(lo)),
                }
            }
        }
        Ok(rest)
    }

    fn upload(&mut self, lo: u64, bytes: &[u8]) -> Result<()> {
        // Buffers are written by words, and the last may be short.
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4), 0);
        self.open.queue.write_buffer(&self.words, lo * self.width(), &padded);
        self.open.queue.submit([]);
        self.open.wait()
    }

    fn put(&mut self, codes: &[(u64, u64)]) -> Result<()> {
        for codes in codes.chunk_by(|a, b| a.0 / PART == b.0 / PART) {
            let lo = codes[0].0 / PART * PART;
            let mut words = BTreeMap::<u32, [u32; 2]>::new();
            for &(index, code) in codes {
                let byte = (index - lo) * self.width();
                let (mask, code) = match self.width() {
                    8 => (u64::MAX, code),
                    width => ((u64::MAX >> (64 - 8 * width)) << (8 * (byte % 4)), code << (8 * (byte % 4))),
                };
                for ((word, mask), code) in (low(byte / 4)..).zip(pair(mask)).zip(pair(code)) {
                    let entry = words.entry(word).or_default();
                    *entry = [entry[0] | mask, entry[1] | (code & mask)];
                }
            }
            let entries: Vec<_> = words
                .into_iter()
                .filter(|(_, [mask, _])| *mask != 0)
                .map(|(word, [mask, bits])| [word, mask, bits, 0])
                .collect();
            let invocations = u64_of(entries.len());
            let part = GivenPart { given: Given::default(), tables: entries };
            let list = buffer(&self.open, LIST, wgpu::BufferUsages::STORAGE);
            let bindings = self.bindings(&part, self.window(lo, self.part_at(lo)), list.as_entire_binding());
            let mut encoder = self.encoder();
            dispatch(&mut encoder, &self.open.pipeline(Task::Put, DType::U32), &bindings, invocations);
            self.open.queue.submit([encoder.finish()]);
        }
        self.open.wait()
    }
}

impl Array for WgpuArray {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn fill(&mut self, plan: &dyn AnyPlan) -> Result<DeviceReport> {
        let (dtype, len) = (self.dtype, self.len);
        engine::fill(self, dtype, len, plan)
    }

    fn clear(&mut self) -> Result<()> {
        let mut encoder = self.encoder();
        encoder.clear_buffer(&self.words, 0, None);
        self.open.queue.submit([encoder.finish()]);
        self.open.wait()
    }

    fn read(&self, from: u64, out: &mut [u8]) -> Result<()> {
        crate::device::check_read(self.bytes, from, out)?;
        let mut done = 0;
        while done < u64_of(out.len()) {
            let lo = from + done;
            let hi = (lo + COPIED).min(from + u64_of(out.len()));
            let aligned = lo / 4 * 4;
            let mut words = vec![0; usize_of(hi.next_multiple_of(4) - aligned)];
            self.copy(self.encoder(), &self.words, aligned, &mut words)?;
            let taken = &words[usize_of(lo - aligned)..usize_of(hi - aligned)];
            out[usize_of(done)..usize_of(hi - from)].copy_from_slice(taken);
            done = hi - from;
        }
        Ok(())
    }
}
