/** Placeholder for a page number, which differs from page to page. */
export const pageNumberMark = '\ufffc'

/** Characters up to which the text beside a page number belongs to it, as in _Page 3 of 9_. */
const maxPageWords = 20

/**
 * The text of a line of a header or footer, without page numbers.
 *
 * @param line with its tabs, and with `pageNumberMark` for each number
 */
export function headerOrFooterText(line: string): string {
  const pieces = line.split(/[\t\n]/).flatMap((piece) => {
    const text = piece.replaceAll(pageNumberMark, ' ').replace(/\s+/g, ' ').trim()
    const isPageNumber = piece.includes(pageNumberMark) && text.length <= maxPageWords
    return text === '' || isPageNumber ? [] : [text]
  })
  return pieces.join(' ')
}
