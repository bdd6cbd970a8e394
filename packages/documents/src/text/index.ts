export {
  joinedAsWhole,
  locateSpacedCodes,
  otherNotations,
  type SpacedCode,
  toJoined,
} from './codes.js'
export {
  addNameTitle,
  type FileName,
  removeNameTitle,
  toFileName,
  toNameTitle,
} from './file-name.js'
export {
  askingWordsOf,
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
  type Run,
  toBigrams,
  toFoldedText,
  toIndexText,
  toIndexTokens,
  toRuns,
} from './index-text.js'
export { type LocatedToken, locateKeyTokens, locateTokens } from './locate.js'
export { isUnspaced, normalise, unifyForms } from './normalise.js'
