/** One of the ways in which passages are found or compared with a question. */
export type Retriever = 'keyword' | 'grams' | 'semantic'

/** The relative weight of each retriever, from 0; a retriever without a weight is not used. */
export type RetrieverWeights = Readonly<Partial<Record<Retriever, number>>>

/**
 * The weights of every search. The keyword retriever leads, because a word of the question in a passage is
 * the best sign; reasons and figures are in `docs/decisions/0015-fusion.md`.
 */
export const defaultWeights: Readonly<Record<Retriever, number>> = {
  keyword: 0.5,
  grams: 0.25,
  semantic: 0.25,
}
