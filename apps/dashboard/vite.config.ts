import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import react from '@vitejs/plugin-react'
import description from 'pdfjs-dist/package.json' with { type: 'json' }
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

/**
 * Puts beside the scripts what documents may need to be shown: character maps, the standard fonts, colour profiles and
 * decoders of pictures, each with its licence. The engine for scripts of documents is left out.
 */
function pdfData(): Plugin {
  const home = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))
  const isNeeded = (name: string) => !/quickjs|\.js$/i.test(name)
  return {
    name: 'pdf-data',
    async generateBundle() {
      for (const folder of ['cmaps', 'standard_fonts', 'iccs', 'wasm']) {
        for (const name of (await readdir(join(home, folder))).filter(isNeeded)) {
          this.emitFile({
            type: 'asset',
            fileName: `assets/pdf-${description.version}/${folder}/${name}`,
            source: await readFile(join(home, folder, name)),
          })
        }
      }
    },
  }
}

export default defineConfig({
  // Relative to the <base> that the server writes into the page, so that it works below any path.
  base: './',
  plugins: [react(), pdfData()],
  resolve: { conditions: ['botstead:source', ...defaultClientConditions] },
  build: {
    outDir: '../server/dist/dashboard',
    emptyOutDir: true,
    // For the check of its size.
    manifest: true,
    // For the package that is installed.
    license: true,
    target: 'es2023',
    // The policy of the page allows no data in scripts; small files are as fast on one connection.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
  },
})
