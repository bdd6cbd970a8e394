export { type CheckOptions, checkFiles, type Finding } from './consistency.js'
export { createSweeps } from './sweeps.js'
