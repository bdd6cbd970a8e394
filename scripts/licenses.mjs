import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

// The licences of packages whose code is in a bundle: each asks that its text goes with copies.

const inPackage = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//

/** The folders of the packages that modules of a bundle come from. */
export function packagesOf(modules) {
  // Some ids begin with a character that bundlers use for modules of their own.
  const folders = modules.map((id) => inPackage.exec(id.replace(/^\0/, ''))?.[1])
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort()
}

/**
 * The name, version, licence and its text of each package as Markdown.
 * @throws Error for a package that names no licence
 */
export async function licensesOf(folders) {
  const parts = await Promise.all(folders.map(licenseOf))
  return [...new Set(parts)].sort().join('\n')
}

async function licenseOf(folder) {
  const { name, version, license, author } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  )
  if (typeof license !== 'string') throw new Error(`The package ${name} names no licence`)
  const names = await readdir(folder)
  const files = names.filter((each) => /^(licen[cs]e|notice)/i.test(each)).sort()
  const texts = await Promise.all(files.map((each) => readFile(join(folder, each), 'utf8')))
  const by = typeof author === 'string' ? author : author?.name
  const text = texts.map((each) => each.trim()).join('\n\n') || `By ${by ?? 'its authors'}.`
  return `## ${name} ${version}\n\n${license}\n\n${text.replaceAll(/^(?=.)/gm, '    ')}\n`
}
