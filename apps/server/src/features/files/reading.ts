/**
 * The second door of the slice, for search: what reads files in queries of its own, also in threads.
 * Through `index.ts` a thread would load uploads, routes and the contract, which takes longer than its
 * first search.
 */
export type { FileScope } from './scope.js'
export { searchableFiles } from './scope-store.js'
export { type FileRow, listFilesByIds } from './store.js'
