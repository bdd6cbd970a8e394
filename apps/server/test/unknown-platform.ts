import { syncBuiltinESMExports } from 'node:module'

/**
 * Makes this process a platform that sqlite-vec has no build for. What has a build for it, such as the
 * driver of SQLite, has to be loaded before.
 * @returns what makes it the former one again
 */
export function claimUnknownPlatform(): () => void {
  const { arch } = process
  const claim = (value: string) => {
    Object.defineProperty(process, 'arch', { value, configurable: true, enumerable: true })
    syncBuiltinESMExports()
  }
  claim('mips')
  return () => claim(arch)
}
