import config from '../../jest.config.js'

/** Scans end in `.scan.ts`, so that `npm test` does not match them. */
export default {
  ...config,
  rootDir: '../..',
  testMatch: ['<rootDir>/scripts/tools/*.scan.ts'],
  maxWorkers: 1,
  testTimeout: 900_000,
}
