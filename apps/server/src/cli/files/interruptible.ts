/** What a shell expects of a command that Ctrl-C has ended. */
const interrupted = 130

/** Ends the work in order at the first Ctrl-C; a second one ends the process at once. */
export async function interruptible(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(interrupted)
    controller.abort()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    await work(controller.signal)
  } catch (error) {
    if (!controller.signal.aborted) throw error
    process.stderr.write('\nInterrupted. Run the same command again to go on.\n')
    process.exitCode = interrupted
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}
