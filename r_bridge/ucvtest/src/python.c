/* Runs Python inside the R process.
 *
 * libpython is loaded with dlopen() when it is first needed, from wherever the chosen
 * interpreter says it lies, so that the package compiles without Python's headers, works with
 * any Python 3, and works with a virtual environment made after the package was installed.
 * For the same reason PyConfig is not used: it is a struct whose layout differs between
 * versions, whereas the functions below have plain, stable signatures.
 *
 * Everything here runs on R's own thread.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <wchar.h>

#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Utils.h>
#include <Rinternals.h>

/* What of Python's C interface is needed; each function by Python's own name. */
typedef struct {
    int (*Py_IsInitialized)(void);
    void (*Py_SetProgramName)(const wchar_t *);
    void (*Py_InitializeEx)(int);
    int (*PyRun_SimpleStringFlags)(const char *, void *);
    int (*PyGILState_Ensure)(void);
    void (*PyGILState_Release)(int);
    void *(*PyEval_SaveThread)(void);
} PythonApi;

static PythonApi python;
static int python_is_ours = 0;

/* While Python runs, Ctrl-C is Python's (KeyboardInterrupt); otherwise it is R's. */
static struct sigaction python_interrupt;
static struct sigaction r_interrupt;
static int in_python = 0;

static void *symbol(void *library, const char *name, const char *path)
{
    void *address = dlsym(library, name);
    if (address == NULL)
        error("'%s' has no function %s, so it is no library of a Python that ucvtest knows: "
              "name another Python in the environment variable UCVTEST_PYTHON", path, name);
    return address;
}

static void load(const char *path)
{
    /* Global, because Python's extension modules expect Python's symbols in the process. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL)
        error("cannot load Python's library (%s): name another Python in the environment "
              "variable UCVTEST_PYTHON", dlerror());
#define LOAD(name) *(void **) &python.name = symbol(library, #name, path)
    LOAD(Py_IsInitialized);
    LOAD(Py_SetProgramName);
    LOAD(Py_InitializeEx);
    LOAD(PyRun_SimpleStringFlags);
    LOAD(PyGILState_Ensure);
    LOAD(PyGILState_Release);
    LOAD(PyEval_SaveThread);
#undef LOAD
}

static int someone_else_runs_python(void)
{
    int (*is_initialized)(void);
    *(void **) &is_initialized = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    return !python_is_ours && is_initialized != NULL && is_initialized();
}

static void initialize(const char *executable)
{
    /* Python keeps the pointer, and finds the virtual environment from it. */
    static wchar_t program[4096];
    size_t length = mbstowcs(program, executable, sizeof program / sizeof *program - 1);
    if (length == (size_t) -1)
        error("the path '%s' of Python cannot be read in this locale: use a UTF-8 locale",
              executable);
    python.Py_SetProgramName(program);
    python.Py_InitializeEx(0); /* 0: leave R's signal handlers alone */
    python.PyEval_SaveThread();
    python_is_ours = 1;
}

/* Start Python, unless it runs, and run a piece of code in it. */
static SEXP start_python(SEXP library, SEXP executable, SEXP code)
{
    if (someone_else_runs_python())
        error("Python already runs in this process, started by another package (reticulate?) or "
              "because R runs inside Python: restart R and call ucvtest first");
    if (!python_is_ours) {
        load(CHAR(asChar(library)));
        initialize(CHAR(asChar(executable)));
    }
    /* The code takes over SIGINT for Python: remember both handlers, go on with R's. */
    sigaction(SIGINT, NULL, &r_interrupt);
    int state = python.PyGILState_Ensure();
    int failed = python.PyRun_SimpleStringFlags(CHAR(asChar(code)), NULL);
    python.PyGILState_Release(state);
    sigaction(SIGINT, NULL, &python_interrupt);
    sigaction(SIGINT, &r_interrupt, NULL);
    return ScalarLogical(!failed);
}

/* On the way from R to Python; a process that ignores Ctrl-C goes on ignoring it. Does nothing
 * where Python's handler is in place already, which would otherwise be taken for R's: an
 * interrupt may come between the two steps of a function that leaves Python and enters it. */
static SEXP enter_python(void)
{
    if (in_python)
        return R_NilValue;
    in_python = 1;
    sigaction(SIGINT, NULL, &r_interrupt);
    if (r_interrupt.sa_handler != SIG_IGN)
        sigaction(SIGINT, &python_interrupt, NULL);
    return R_NilValue;
}

/* On the way from Python to R. */
static SEXP leave_python(void)
{
    if (!in_python)
        return R_NilValue;
    in_python = 0;
    sigaction(SIGINT, &r_interrupt, NULL);
    return R_NilValue;
}

/* Hand an interrupt that Python has caught to R's own handler. */
static SEXP interrupt_r(void)
{
    raise(SIGINT);
    R_CheckUserInterrupt();
    return R_NilValue;
}

static const R_CallMethodDef call_methods[] = {
    {"start_python", (DL_FUNC) &start_python, 3},
    {"enter_python", (DL_FUNC) &enter_python, 0},
    {"leave_python", (DL_FUNC) &leave_python, 0},
    {"interrupt_r", (DL_FUNC) &interrupt_r, 0},
    {NULL, NULL, 0}
};

void R_init_ucvtest(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, call_methods, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
