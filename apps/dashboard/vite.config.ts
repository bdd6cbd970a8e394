import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'

export default defineConfig({
  // Relative to the <base> that the server writes into the page, so that it works below any path.
  base: './',
  plugins: [react()],
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
