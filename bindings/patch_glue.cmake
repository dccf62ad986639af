file(READ ${GLUE} text)
set(pattern "new URL\\([\"']${NAME}[\"'], ?import\\.meta\\.url\\)")
string(REGEX MATCHALL "${pattern}" found "${text}")
if(found)
  string(REGEX REPLACE "${pattern}" "new URL(import.meta.url)" text "${text}")
  file(WRITE ${GLUE} "${text}")
elseif(NOT text MATCHES "new URL\\(import\\.meta\\.url\\)")
  message(FATAL_ERROR "${GLUE}: expected it to start its workers from '${NAME}'")
endif()

# In Node a thread is started with the flags of the process; --input-type, of a program given on the
# command line, makes it fail.
file(READ ${GLUE} text)
string(REPLACE "workerData:\"em-pthread\",name" "workerData:\"em-pthread\",execArgv:[],name" text "${text}")
if(NOT text MATCHES "execArgv:\\[\\]")
  message(FATAL_ERROR "${GLUE}: expected it to start its workers with workerData and name")
endif()
file(WRITE ${GLUE} "${text}")

# Only a result that is an address must be made unsigned. Embind takes that way, several times slower
# than the call itself, for functions with an address among their parameters, too: all of them.
file(READ ${GLUE} text)
string(REPLACE "signature.includes(\"p\")" "signature[0]===\"p\"" text "${text}")
if(NOT text MATCHES "signature\\[0\\]===\"p\"")
  message(FATAL_ERROR "${GLUE}: expected it to look for addresses in signatures")
endif()
file(WRITE ${GLUE} "${text}")
