#!/usr/bin/python3
"""Writes the HDF5 fixtures of this folder. Needs python3-h5py and python3-numpy;
run it in this folder."""
import h5py
import numpy as np

NPU, GPU, CPU = 10, 1, 0
CODES = {"f4": 1, "u1": 2, "i1": 3, "i2": 5, "i4": 6, "i8": 7, "b1": 9, "f2": 10, "f8": 11}


def write(name, device, tensors):
    with h5py.File(name, "w") as f:
        for path, value in tensors.items():
            attrs = {}
            if isinstance(value, tuple):
                value, attrs = value
            a = np.asarray(value)
            kw = {"chunks": (64, 64), "compression": "gzip"} if a.ndim == 2 and a.size > 4096 else {}
            d = f.create_dataset(path, data=a, **kw)
            stride = [s // a.itemsize for s in np.ascontiguousarray(a).strides] if a.ndim else []
            full = {"DataType": CODES[a.dtype.str[1:]], "DeviceType": device, "Type": 0, "Stride": np.array(stride, "i8")}
            full.update(attrs)
            for k, v in full.items():
                if v is not None:
                    d.attrs[k] = v


def f4(*v):
    return np.array(v, "f4")


# Inputs are recorded on both sides.
write("full_npu.h5", NPU, {
    # Orders sort as numbers: the second call of Add is 12, not 100.
    "Add/3/input/self": f4(1, 2, 3, 4),
    "Add/3/input/other": f4(1, 1, 1, 1),
    "Add/3/output/out": f4(2, 3, 4, 5),
    "Add/12/output/out": f4(1, 1),
    "Add/100/output/out": f4(9, 9),
    # Under another name on the GPU, and with other names of tensors.
    "NpuConvolutionBackward/5/input/self": f4(1, 2),
    "NpuConvolutionBackward/5/input/grads/weight": f4(3, 4),
    "NpuConvolutionBackward/6/input/self": f4(5, 6),
    "NativeBatchNormBackward/7/input/epsilon": f4(1),
    "NpuDropout/8/output/out": f4(1, 2),
    # Half against Float, Int against Long, and what does not go together.
    "Cast/9/output/half": np.array([1, 2.5, -3], "f2"),
    "Cast/9/output/int": np.array([1, -2, 3], "i4"),
    "Cast/9/output/bad": np.array([1, -2, 3], "i4"),
    "Cast/9/output/bare": (f4(1), {"DataType": None}),
    "Cast/9/output/flags": np.array([True, False, True]),
    # Of the golden side recorded as it lies in memory.
    "Transpose/10/output/out": np.arange(6, dtype="f4").reshape(2, 3),
    "Transpose/10/output/far": np.arange(6, dtype="f4").reshape(2, 3),
    "Transpose/10/output/large": np.arange(130 * 70, dtype="f4").reshape(130, 70),
    "Expand/11/output/out": f4(7, 7, 7),
    "Sum/13/output/count": f4(1, 2, 3),
    "Sum/13/output/scalar": np.float32(4),
    "Lost/14/input/a": f4(1),
    "Lost/14/output/b": f4(1),
    "List/15/output/list": (f4(1), {"Type": 1}),
    "=cmd/16/output/x,y": f4(1),
})
GOLDEN = {
    "Add/4/input/self": f4(1, 2, 3, 5),
    "Add/4/output/out": f4(2, 3, 4, 5),
    "Add/4/output/more": f4(2),
    "Add/20/output/out": f4(1, 2),
    "Add/30/output/out": f4(9, 9),
    # The two names share a counter: the order decides, not the name.
    "ThnnConvDepthwise2DBackward/40/input/input": f4(1, 3),
    "ThnnConvDepthwise2DBackward/40/input/grads/weight": f4(3, 4),
    "CudnnConvolutionBackward/50/input/input": f4(5, 6),
    "CudnnBatchNormBackward/7/input/eps": f4(3),
    "CudnnDropout/8/output/out": f4(1, 2),
    "ThnnDropout/8/output/out": f4(1, 6),
    "Cast/9/output/half": f4(1, 2.5, -4),
    "Cast/9/output/int": np.array([1, -2, 5], "i8"),
    "Cast/9/output/bad": f4(1, -2, 3),
    "Cast/9/output/bare": f4(1),
    "Cast/9/output/flags": np.array([True, True, True]),
    "Transpose/10/output/out": (f4(0, 3, 1, 4, 2, 5).reshape(2, 3), {"Stride": np.array([1, 2], "i8")}),
    # Strides that leave the data are not followed.
    "Transpose/10/output/far": (np.arange(6, dtype="f4").reshape(2, 3), {"Stride": np.array([4, 1], "i8")}),
    "Transpose/10/output/large": (np.ascontiguousarray(np.arange(130 * 70, dtype="f4").reshape(130, 70).T).reshape(130, 70),
                                  {"Stride": np.array([1, 130], "i8")}),
    "Expand/11/output/out": (f4(7, 1, 2), {"Stride": np.array([0], "i8")}),
    "Sum/13/output/count": f4(1, 2),
    "Sum/13/output/scalar": np.float32(6),
    "Only/2/output/z": f4(1),
    "=cmd/16/output/x,y": f4(1),
}
write("full_gpu.h5", GPU, GOLDEN)
write("full_cpu.h5", CPU, GOLDEN)

# Only outputs are recorded: orders agree.
write("load_npu.h5", NPU, {
    "Add/3/output/out": f4(1, 2),
    "Add/5/output/out": f4(3, 4),
    "Mul/6/output/out": f4(3, 4),
    "NpuDropout/8/output/out": f4(1, 2),
})
write("load_gpu.h5", GPU, {
    "Add/3/input/self": f4(1),
    "Add/3/output/out": f4(1, 2),
    "Add/5/output/out": f4(3, 6),
    "Mul/7/output/out": f4(3, 4),
    "CudnnDropout/8/output/out": f4(1, 2),
})
write("misnamed.h5", NPU, {"Add/x/output/out": f4(1), "out": f4(1), "Add/1/result/out": f4(1)})
write("empty.h5", NPU, {"List/15/output/list": (f4(1), {"Type": 1})})
