/** @type {import('jest').Config} */
export default {
  roots: ['<rootDir>/packages', '<rootDir>/scripts'],
  testMatch: ['<rootDir>/packages/*/test/**/*.test.ts', '<rootDir>/scripts/**/*.test.ts'],
  runner: '<rootDir>/scripts/test/runner.ts',
  transform: {},
  // Most of a test is waiting for real services, so more files than processors run at once.
  maxWorkers: 4,
  // Only ends a hang: on a busy machine a test takes many times as long as on a quiet one.
  testTimeout: 120_000,
}
