import * as pdf from 'pdfjs-dist'
import painterUrl from 'pdfjs-dist/build/pdf.renderer.min.mjs?url'
import readerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url'

/** Maximum time that opening a document or drawing a page may take, in milliseconds. */
const maxMilliseconds = 30_000
/** Maximum number of pixels of the canvas of a page, and of its longer side. */
const maxPixels = 16_777_216
const maxSide = 8192
/** Maximum side of a page on the screen, in CSS pixels. */
const maxLength = 20_000
/** Maximum number of pixels of a picture in a document: a larger one is left out. */
const maxPicturePixels = 67_108_864
/** Maximum number of steps of drawing a page: this page keeps them on their way from one worker to the other. */
const maxSteps = 1_000_000
/** Maximum number of pieces of text that can be selected on a page. */
const maxTexts = 5000

/** Address of the character maps, fonts and decoders that documents may need. */
const dataUrl = new URL(`assets/pdf-${pdf.version}/`, document.baseURI).href

/** An open document. Its opener must close it. */
export interface PdfDocument {
  pageCount: number
  /**
   * Draws a page with its text over it, which can be selected.
   * @param number from 1
   * @param width of the page on the screen, in CSS pixels
   */
  draw(number: number, width: number, signal: AbortSignal): Promise<HTMLElement>
  close(): void
}

/**
 * Opens a document. Scripts in it never run, because nothing here can run them. It is read in one worker and drawn in
 * another, whose policies permit them no requests; one that fails or takes too long is ended, and this page goes on.
 */
export async function openPdf(content: Blob): Promise<PdfDocument> {
  const data = new Uint8Array(await content.arrayBuffer())
  const reader = new Worker(readerUrl, { type: 'module' })
  const painter = new Worker(painterUrl, { type: 'module' })
  let fail: (reason: Error) => void = () => {}
  const failure = new Promise<never>((_, reject) => {
    fail = reject
  })
  // It may happen while nobody waits for it.
  failure.catch(() => {})
  const close = (reason: Error = new Error('The document is closed.')) => {
    reader.terminate()
    painter.terminate()
    fail(reason)
  }
  for (const worker of [reader, painter]) {
    worker.addEventListener('error', (event) => {
      // Otherwise the library would draw in this page.
      event.stopImmediatePropagation()
      close(new Error('The worker that draws it has failed.'))
    })
  }
  /** Waits for work of the workers, within the limit of time. */
  const settle = async <T>(work: Promise<T>): Promise<T> => {
    const tooLong = () => close(new Error(`It took more than ${maxMilliseconds / 1000} s.`))
    const timer = setTimeout(tooLong, maxMilliseconds)
    try {
      return await Promise.race([work, failure])
    } finally {
      clearTimeout(timer)
    }
  }

  pdf.GlobalWorkerOptions.workerPort = reader
  pdf.GlobalWorkerOptions.rendererPorts = [painter]
  const { promise } = pdf.getDocument({
    data,
    verbosity: pdf.VerbosityLevel.ERRORS,
    maxImageSize: maxPicturePixels,
    cMapUrl: `${dataUrl}cmaps/`,
    standardFontDataUrl: `${dataUrl}standard_fonts/`,
    wasmUrl: `${dataUrl}wasm/`,
    iccUrl: `${dataUrl}iccs/`,
    // This page reads those files: the worker may not.
    useWorkerFetch: false,
  })
  try {
    const opened = await settle(promise)
    return {
      pageCount: opened.numPages,
      draw: (number, width, signal) =>
        settle(opened.getPage(number).then((page) => drawPage({ page, width, signal, close }))),
      close,
    }
  } catch (error) {
    close()
    throw explain(error)
  }
}

function explain(error: unknown): Error {
  const isLocked = error instanceof pdf.PasswordException
  if (isLocked) return new Error('A password protects it.', { cause: error })
  if (error instanceof pdf.InvalidPDFException) {
    return new Error('It is not a readable PDF.', { cause: error })
  }
  return error instanceof Error ? error : new Error(String(error))
}

interface Drawing {
  page: pdf.PDFPageProxy
  width: number
  signal: AbortSignal
  /** Ends the document for a reason. */
  close: (reason: Error) => void
}

async function drawPage({ page, width, signal, close }: Drawing): Promise<HTMLElement> {
  const natural = page.getViewport({ scale: 1 })
  const scale = Math.min(width / natural.width, maxLength / natural.height)
  const viewport = page.getViewport({ scale })
  const density = Math.min(
    window.devicePixelRatio,
    Math.sqrt(maxPixels / (viewport.width * viewport.height)),
    maxSide / Math.max(viewport.width, viewport.height),
  )
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.floor(viewport.width * density))
  canvas.height = Math.max(1, Math.floor(viewport.height * density))
  const task = page.render({
    canvas,
    viewport,
    operationsFilter: (step) => {
      if (step === maxSteps) close(new Error('A page of it is too large to be drawn.'))
      return true
    },
    ...(density !== 1 && { transform: [density, 0, 0, density, 0, 0] }),
  })
  const cancel = () => task.cancel()
  signal.addEventListener('abort', cancel)
  try {
    await task.promise
  } finally {
    signal.removeEventListener('abort', cancel)
  }
  const text = document.createElement('div')
  const sheet = document.createElement('div')
  sheet.style.width = `${viewport.width}px`
  sheet.style.height = `${viewport.height}px`
  sheet.style.setProperty('--total-scale-factor', String(scale))
  sheet.append(canvas, text)
  const textContentSource = await readTexts(page)
  await new pdf.TextLayer({ textContentSource, container: text, viewport }).render()
  page.cleanup()
  return sheet
}

type Texts = Awaited<ReturnType<pdf.PDFPageProxy['getTextContent']>>

/** The texts of a page, as many as the browser lays out in a moment. */
async function readTexts(page: pdf.PDFPageProxy): Promise<Texts> {
  const texts: Texts = { items: [], styles: {}, lang: null }
  const reader = page.streamTextContent().getReader()
  while (texts.items.length < maxTexts) {
    const { value, done } = await reader.read()
    if (done) return texts
    const { items, styles, lang }: Texts = value
    texts.items.push(...items.slice(0, maxTexts - texts.items.length))
    Object.assign(texts.styles, styles)
    texts.lang ??= lang
  }
  await reader.cancel(new Error('There are too many texts.'))
  return texts
}
