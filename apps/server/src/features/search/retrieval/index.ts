export { createFinder, type Finder, type FoundPassage, joinByFile } from './finder.js'
