# The CUDA module: filled in where nvcc is found.
