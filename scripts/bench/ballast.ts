/**
 * Loaded into a worker with `--import`: makes the process as heavy as BENCH_BALLAST_MIB says. Only the program itself,
 * not the processes that it starts with the same options.
 */
const MIB = 1024 * 1024
const mib = process.argv[1]?.endsWith('/main.ts') ? Number(process.env.BENCH_BALLAST_MIB ?? 0) : 0
const ballast = Buffer.alloc(mib * MIB, 1)
// Something has to refer to it for as long as the process lives.
process.on('exit', () => ballast.fill(0, 0, 1))
