export { type FileName, toFileName, toNameTitle } from './file-name.js'
export {
  functionWordsOf,
  germanSigns,
  isEnding,
  isGermanGrammar,
  mayBeGerman,
} from './function-words.js'
export {
  type ContextOptions,
  type IndexFields,
  toEmbeddingText,
  toIndexFields,
} from './index-fields.js'
export { toFoldedText, toIndexText } from './index-text.js'
export { joinedAsWhole, toJoined } from './joined.js'
export { placeUnderName, takeFromName } from './name-title.js'
export { normalise } from './normalise.js'
export { isStopword } from './stopwords.js'
export { type Run, toBigrams, toIndexTokens, toRuns } from './tokens.js'
export { type ListedWord, reverse, toNewWords } from './words.js'
