// Loaded before a server, so that its process has a fault on request.
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('an unexpected error')
  })
})
process.on('SIGWINCH', () => {
  Promise.reject(new Error('an unhandled rejection'))
})
