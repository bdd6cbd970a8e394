#!/usr/bin/env node
import { existsSync } from 'node:fs'

const main = new URL('../dist/main.js', import.meta.url)
if (existsSync(main)) {
  await import(main.href)
} else {
  process.stderr.write('This checkout is not built yet: run "npm run build" (npm start does it).\n')
  process.exitCode = 1
}
