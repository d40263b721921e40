/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/packages/*/test/**/*.test.ts', '<rootDir>/scripts/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/.scanfarm/'],
  modulePathIgnorePatterns: ['<rootDir>/.scanfarm/', '<rootDir>/.cache/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript' },
          target: 'es2024',
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  // Only ends a hang: on a busy machine a test takes many times as long as on a quiet one.
  testTimeout: 120_000,
}
