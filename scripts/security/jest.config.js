import config from '../../jest.config.js'

/** Attacks end in `.attack.ts`, so that `npm test` does not match them. They share one farm: one file at a time. */
export default {
  ...config,
  rootDir: '../..',
  testMatch: ['<rootDir>/scripts/security/attacks/*.attack.ts'],
  maxWorkers: 1,
}
