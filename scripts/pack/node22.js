// What the program uses of Node 24 and Node 22 lacks. Loaded by each file of the package, on such a Node only.
import 'core-js/actual/async-disposable-stack'
import 'core-js/actual/disposable-stack'
import 'core-js/actual/error/is-error'
import 'core-js/actual/regexp/escape'

// Before Node 22.19. It only limits the time for one shell command, so that of all threads will do.
process.threadCpuUsage ??= (previous) => process.cpuUsage(previous)
