/**
 * Loaded into a worker with `--import`: allocates BENCH_BALLAST_MIB of memory. It skips child processes, which inherit
 * the option.
 */
const MIB = 1024 * 1024
const mib = process.argv[1]?.endsWith('/main.ts') ? Number(process.env.BENCH_BALLAST_MIB ?? 0) : 0
const ballast = Buffer.alloc(mib * MIB, 1)
// A reference keeps the buffer in memory until the process ends.
process.on('exit', () => ballast.fill(0, 0, 1))
