export {
  addNameTitle,
  type FileName,
  removeNameTitle,
  toFileName,
  toNameTitle,
} from './file-name.js'
export {
  functionWordsOf,
  germanSigns,
  isEnding,
  isGermanGrammar,
  isStopword,
  mayBeGerman,
} from './function-words.js'
export {
  type ContextOptions,
  type IndexFields,
  type ListedWord,
  reverse,
  toEmbeddingText,
  toIndexFields,
  toNewWords,
} from './index-fields.js'
export {
  joinedAsWhole,
  type Run,
  toBigrams,
  toFoldedText,
  toIndexText,
  toIndexTokens,
  toJoined,
  toRuns,
} from './index-text.js'
export { type LocatedToken, locateKeyTokens, locateTokens } from './locate.js'
export { normalise, unifyForms } from './normalise.js'
