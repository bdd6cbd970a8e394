/**
 * English function words that say nothing about the subject of a question.
 * The single letters and stumps are what is left of contractions (`don't`, `we'll`).
 */
const WORDS = `
a about above after again against all also am an and any are as at
be because been before being below between both but by
can could did do does doing down during each few for from further
had has have having he her here hers herself him himself his how
i if in into is it its itself just me more most my myself
no nor not now of off on once only or other our ours ourselves out over own
please same shall she should so some such
than that the their theirs them themselves then there these they this those through to too
under until up upon us very was we were what when where which while who whom whose why will with would
you your yours yourself yourselves
aren couldn d didn doesn don hadn hasn haven isn ll m re s shouldn t ve wasn weren won wouldn
`

const STOPWORDS: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/))

/** Whether a normalised token is an English function word. */
export function isStopword(token: string): boolean {
  return STOPWORDS.has(token)
}
