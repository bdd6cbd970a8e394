/** Ends the program with a line that says what is wrong and what to do, instead of a stack. */
export function stop(reason) {
  console.error(reason)
  process.exit(1)
}
