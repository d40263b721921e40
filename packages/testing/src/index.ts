export { MOTO_HOME, MOTO_INSTALL_MS, startMoto, type MotoServer } from './moto.ts'
export { linkPrograms } from './programs.ts'
export { describeWaits, until, type UntilOptions } from './until.ts'
export { RACE_TRIES, raceSwapper } from './swapper.ts'
