/** Longer blocks are content that happens to begin with a rule. */
const LONGEST_BLOCK = 65_536
const YAML_BLOCK = /^---[ \t]*\n(?:([\s\S]*?)\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)/
const TOML_BLOCK = /^\+\+\+[ \t]*\n(?:([\s\S]*?)\n)?\+\+\+[ \t]*(?:\n|$)/
const TOML_TITLE = /^title[ \t]*=[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')/m

/** A document and what its front matter says about it. */
export interface FrontMatter {
  /** The document without its front matter. */
  body: string
  title?: string
}

/** Takes the YAML or TOML block off the head of a document; its title is all that is kept. */
export async function splitFrontMatter(text: string): Promise<FrontMatter> {
  const head = text.slice(0, LONGEST_BLOCK)
  const toml = TOML_BLOCK.exec(head)
  if (toml !== null) {
    return { body: text.slice(toml[0].length), ...titled(tomlTitle(toml[1] ?? '')) }
  }
  const yaml = YAML_BLOCK.exec(head)
  const fields = yaml === null ? undefined : await yamlFields(yaml[1] ?? '')
  if (yaml === null || fields === undefined) return { body: text }
  return { body: text.slice(yaml[0].length), ...titled(fields.title) }
}

/** The fields of a YAML mapping, or nothing if the block is prose between two rules. */
async function yamlFields(block: string): Promise<{ title?: unknown } | undefined> {
  const { isMap, parseDocument } = await import('yaml')
  const document = parseDocument(block, { logLevel: 'silent' })
  // A mapping with a mistake in it is still no content.
  if (document.errors.length > 0) return /^[\w.-]+[ \t]*:/.test(block) ? {} : undefined
  if (document.contents === null) return {}
  return isMap(document.contents) ? { title: document.get('title') } : undefined
}

function tomlTitle(block: string): string | undefined {
  const match = TOML_TITLE.exec(block)
  return match?.[1]?.replace(/\\(["\\])/g, '$1') ?? match?.[2]
}

function titled(title: unknown): { title?: string } {
  if (typeof title !== 'string' && typeof title !== 'number') return {}
  const text = String(title).replace(/\s+/g, ' ').trim()
  return text === '' ? {} : { title: text }
}
