"""Tell R about this Python: its shared library, its path, its version, its missing modules."""

import os
import sys
import sysconfig
from importlib.util import find_spec

NEEDED = ("ucvtest", "ucvtest_r", "rpy2")


def shared_library():
    """Path of libpython, or an empty string where Python was built without one."""
    value = sysconfig.get_config_var
    folders = [value("PYTHONFRAMEWORKPREFIX"), value("LIBDIR"), sys.base_prefix + "/lib"]
    # Debian keeps its libraries in a folder per architecture.
    folders += [os.path.join(folder, value("MULTIARCH") or "") for folder in folders if folder]
    names = [value("INSTSONAME"), value("LDLIBRARY")]
    for folder in filter(None, folders):
        for name in filter(None, names):
            path = os.path.join(folder, name)
            if os.path.exists(path) and not path.endswith(".a"):
                return path
    return ""


lacking = " ".join(name for name in NEEDED if find_spec(name) is None)
version = ".".join(map(str, sys.version_info[:3]))
sys.stdout.write("\n".join([shared_library(), sys.executable, version, lacking]) + "\n")
