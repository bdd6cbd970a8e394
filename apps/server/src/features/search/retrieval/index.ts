export type { Explanation, MatchExplanation } from './explanation/index.js'
export type { FindRequest } from './find.js'
export { createFinder, type Finder, type FoundPassage, joinByFile } from './finder.js'
export { withoutMarks } from './spellings.js'
