/** A docker engine and an ssh host for the tests of other packages. */
export { startEngine, TEST_IMAGE, useEngine, type TestEngine } from './docker-engine.ts'
export { startSshServer, type TestSshServer } from './ssh-server.ts'
