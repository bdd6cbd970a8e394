export { type CheckOptions, checkFiles, type Finding } from './consistency.js'
export { listReferredContents, type ReferredContent } from './referred-store.js'
export { createSweeps } from './sweeps.js'
