/** Stands for a number of a page, which differs from page to page. */
export const pageNumberMark = '\ufffc'

/** Letters beside the number of a page that belong to it, as in _Page 3 of 9_. */
const maxPageWords = 20

/**
 * The text of a line of a header or footer, without numbers of pages.
 *
 * @param line with its tabs, and with `pageNumberMark` for each number
 */
export function marginText(line: string): string {
  const pieces = line.split(/[\t\n]/).flatMap((piece) => {
    const text = piece.replaceAll(pageNumberMark, ' ').replace(/\s+/g, ' ').trim()
    const isPageNumber = piece.includes(pageNumberMark) && text.length <= maxPageWords
    return text === '' || isPageNumber ? [] : [text]
  })
  return pieces.join(' ')
}
