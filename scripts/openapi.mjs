import { readFile } from 'node:fs/promises'
import { allOperations, createOpenApi } from '../packages/contract/dist/index.js'

/** The API as one OpenAPI document. */
export const openApi = {
  path: 'docs/openapi.json',
  async write() {
    const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8')
    const { version } = JSON.parse(manifest)
    return `${JSON.stringify(createOpenApi(allOperations, { version }), null, 2)}\n`
  },
}
