import type { Language } from '../shared/appearance.js'

interface Translation {
  chat: string
  /** `$` is the name of the bot. */
  open: string
  close: string
  loading: string
  failed: string
  /** `#` is a number. */
  unread: string
}

/** The texts of the button; those of the chat are loaded with it. */
export const translations: Readonly<Record<Language, Translation>> = {
  en: {
    chat: 'Chat',
    open: 'Open the chat with $',
    close: 'Close the chat',
    loading: 'The chat is loading',
    failed: 'The chat could not be loaded. Press the button to try again.',
    unread: 'new messages: #',
  },
  de: {
    chat: 'Chat',
    open: 'Chat mit $ öffnen',
    close: 'Chat schließen',
    loading: 'Der Chat wird geladen',
    failed: 'Der Chat konnte nicht geladen werden. Ein Druck auf den Knopf versucht es erneut.',
    unread: 'neue Nachrichten: #',
  },
  fr: {
    chat: 'Discussion',
    open: 'Ouvrir la discussion avec $',
    close: 'Fermer la discussion',
    loading: 'Chargement de la discussion',
    failed: 'La discussion n’a pas pu être chargée. Appuyez sur le bouton pour réessayer.',
    unread: 'nouveaux messages : #',
  },
  es: {
    chat: 'Chat',
    open: 'Abrir el chat con $',
    close: 'Cerrar el chat',
    loading: 'El chat se está cargando',
    failed: 'No se pudo cargar el chat. Pulse el botón para intentarlo de nuevo.',
    unread: 'mensajes nuevos: #',
  },
  ar: {
    chat: 'محادثة',
    open: 'افتح المحادثة مع $',
    close: 'أغلق المحادثة',
    loading: 'جارٍ تحميل المحادثة',
    failed: 'تعذّر تحميل المحادثة. اضغط الزر للمحاولة مرة أخرى.',
    unread: 'رسائل جديدة: #',
  },
}
