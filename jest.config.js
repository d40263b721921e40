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
  // Jest keeps some memory of every file that it ran; a process that holds this much is replaced before its next file.
  // One process: tests of docker share its network, and tests of time share the machine.
  maxWorkers: 1,
  workerIdleMemoryLimit: '1GB',
  // Only ends a hang: on a busy machine a test takes many times as long as on a quiet one.
  testTimeout: 120_000,
}
