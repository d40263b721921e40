/** Limit of the data of an event, in bytes of JSON. */
export const EVENT_DATA_BYTES = 64 * 1024
/** Maximum characters of the topic, name, source and data type. */
export const EVENT_WORD_LENGTH = 256
