export { MOTO_HOME, MOTO_INSTALL_MS, startMoto, type MotoServer } from './moto.ts'
export { describeWaits, until, type UntilOptions } from './until.ts'
export { RACE_TRIES, raceSwapper } from './swapper.ts'
