import { InvalidArgumentError } from 'commander'

/** Reads an option `--tag name=value`, which may be repeated; the last one with a name counts. */
export function addTag(text: string, tags: Record<string, string>): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('A tag is written name=value.')
  return { ...tags, [text.slice(0, at)]: text.slice(at + 1) }
}
