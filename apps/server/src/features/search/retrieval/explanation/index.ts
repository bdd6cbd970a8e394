export { type ExplainOptions, type Explanation, explainFindings } from './explain.js'
export type { MatchExplanation } from './target.js'
