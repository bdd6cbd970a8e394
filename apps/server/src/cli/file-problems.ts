/**
 * Describes a problem of a file or folder of the user and its remedy; undefined for errors that are not about one.
 * @param path as the user gave it, unless the error has one
 */
export function fileProblem(error: unknown, path?: string): string | undefined {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return undefined
  const { code, syscall } = error
  const isFolder = ['scandir', 'opendir', 'mkdir', 'rmdir'].includes(String(syscall))
  const named = path ?? ('path' in error ? String(error.path) : undefined)
  const it = named ?? (isFolder ? 'A folder that was named' : 'A file that was named')
  switch (code) {
    case 'ENOENT':
      return `There is no ${isFolder ? 'folder' : 'file'} ${named ?? 'of that name'}: check the name, and the folder in which you run the command.`
    case 'EISDIR':
      return `${it} is a folder: name a file.`
    case 'ENOTDIR':
      return isFolder
        ? `${it} is not a folder: name one.`
        : `${it} cannot be there, because a part of its path is a file: check the path.`
    case 'EACCES':
    case 'EPERM':
      return `${it} may not be used by this user: change its permissions, or name another one.`
    case 'EEXIST':
      return `${it} is there already: name another one, or remove it first.`
    case 'EROFS':
      return `${it} is on a file system that cannot be written: name a place that can.`
    case 'ENAMETOOLONG':
      return `${it} has a name that is too long for the system: name a shorter one.`
    case 'ENOSPC':
    case 'EDQUOT':
      return `There is no room left for ${named ?? 'a file'}: free some, and run the command again.`
    default:
      return undefined
  }
}
