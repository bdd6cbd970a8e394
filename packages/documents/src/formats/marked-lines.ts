/** A line or block of lightweight markup. */
export type MarkedLine =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'title'; text: string }
  | { kind: 'code'; language: string; lines: string[] }
  | { kind: 'text'; text: string }

/** Lines up to the first one that ends a block, which is dropped; all of them if none does. */
export function takeUntil(
  lines: readonly string[],
  from: number,
  isEnd: (line: string) => boolean,
): { taken: string[]; next: number } {
  let at = from
  while (at < lines.length && !isEnd(lines[at] ?? '')) at += 1
  return { taken: lines.slice(from, at), next: at + 1 }
}
