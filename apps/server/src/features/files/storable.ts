/** Whether every database can hold a text: whole characters, and none of code 0. */
export function isStorable(text: string): boolean {
  return !/[\0\p{Cs}]/u.test(text)
}
