import config from '../../jest.config.js'

/** Takes minutes, so `npm test` does not match it. */
export default {
  ...config,
  rootDir: '../..',
  testMatch: ['<rootDir>/scripts/pack/*.install.ts'],
  testTimeout: 300_000,
}
