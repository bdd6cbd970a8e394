/** A content that was chosen or dropped, with its path in the folder that was dropped. */
export interface Chosen {
  path: string
  content: File
}

/** Maximum number of files that one dialog uploads, whether they were chosen or dropped. */
export const chosenMaximum = 1000

/** The dropped files and those in dropped folders; one more than the maximum if there are more. */
export async function chosenOf(data: DataTransfer): Promise<Chosen[]> {
  // The entries must be taken at once: the browser forgets them when the event is over.
  const taken = [...data.items]
    .filter(({ kind }) => kind === 'file')
    .map((item) => ({ entry: item.webkitGetAsEntry(), content: item.getAsFile() }))
  const found: Chosen[] = []
  for (const { entry, content } of taken) {
    if (entry !== null) await collect(entry, '', found)
    // Contents that a program made have no entry.
    else if (content !== null) found.push({ path: content.name, content })
  }
  return found
}

/** Whether a folder contains a file of this name unseen: dot files, lock files of Office, and files of Windows. */
const isHidden = (name: string) => /^(?:\.|~\$)|^(?:thumbs\.db|desktop\.ini)$/i.test(name)

async function collect(entry: FileSystemEntry, folder: string, found: Chosen[]): Promise<void> {
  if (found.length > chosenMaximum || isHidden(entry.name)) return
  const path = folder + entry.name
  if (isFile(entry)) {
    const content = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    found.push({ path, content })
  } else if (isFolder(entry)) {
    for (const child of await childrenOf(entry)) await collect(child, `${path}/`, found)
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

/** The browser returns the entries of a folder in parts; the last one is empty. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const children: FileSystemEntry[] = []
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (part.length === 0) return children
    children.push(...part)
  }
}
