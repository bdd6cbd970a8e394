export { createFinder, type Finder, type FoundPassage, joinByFile } from './finder.js'
export { withoutMarks } from './spellings.js'
