// Loaded before a server, so that its process has a fault when it is told to.
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('a fault that nobody foresaw')
  })
})
process.on('SIGWINCH', () => {
  Promise.reject(new Error('a rejection that nobody handles'))
})
