import { readDocument } from '../documents.js'

/** Instructions of the last stage of the Dockerfile, with their words; lines that go on are joined. */
export async function instructionsOfImage(): Promise<[word: string, text: string][]> {
  const lines = (await readDocument('deploy/Dockerfile')).replaceAll('\\\n', ' ').split('\n')
  const all = lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line): [string, string] => {
      const [word = '', ...rest] = line.split(' ')
      return [word, rest.join(' ')]
    })
  return all.slice(all.findLastIndex(([word]) => word === 'FROM'))
}

/** The command of the image and its variables. */
export interface ImageCommand {
  /** Words of the command. */
  start: string[]
  healthcheck: string[]
  environment: Record<string, string>
}

export async function commandOfImage(): Promise<ImageCommand> {
  const last = await instructionsOfImage()
  const of = (word: string) => last.filter(([each]) => each === word).map(([, text]) => text)
  const words = (text = '[]'): string[] => JSON.parse(text.slice(text.indexOf('[')))
  const variables = of('ENV').flatMap((line) => line.split(' '))
  return {
    start: [...words(of('ENTRYPOINT')[0]), ...words(of('CMD')[0])],
    healthcheck: words(of('HEALTHCHECK')[0]),
    environment: Object.fromEntries(variables.map((each) => each.split('=', 2))),
  }
}
